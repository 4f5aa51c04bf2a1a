"""`waterclock lake`: Java, SQL and Python jobs of the lake, and the tables that their queries name."""
