"""The faces: each speaks one wire language, calls the services, and translates their values and errors."""
