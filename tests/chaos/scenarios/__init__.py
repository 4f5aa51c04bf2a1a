"""One module for each scenario; importing it registers it."""
