"""`waterclock chain`: chains as operators have them, in files, on the screen and on the server."""
