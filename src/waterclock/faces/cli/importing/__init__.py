"""`waterclock import`: what is kept elsewhere is read, compared with what is here, shown, and only then made here."""
