"""`waterclock lake`: Java, SQL, Python and sync jobs of the lake, their sources, and the tables that queries name."""
