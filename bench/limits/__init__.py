"""Bare prototypes: what the store or the kernel can do with nothing around it."""
