"""The SQL that Sail and Spark answer alike, the queries that they do not, and the page that lists them."""
