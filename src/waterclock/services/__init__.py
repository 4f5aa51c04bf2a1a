"""The rules of each use case: who may do it, what is checked, what is stored."""
