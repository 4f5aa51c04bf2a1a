"""The duties that turn due triggers into ended runs: each is one small class, one loop drives them all."""
