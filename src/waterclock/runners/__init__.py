"""What runs programs: started once, watched, and dead when we say so."""
