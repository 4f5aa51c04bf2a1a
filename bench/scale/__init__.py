"""How far it goes: measured constants, a model of what a load needs, and a simulation that checks the model."""
