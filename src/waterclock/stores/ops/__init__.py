"""The operations of the stores: each is one transaction, written once for every database."""
