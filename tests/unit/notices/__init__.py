"""Pure decisions and small parts, without servers."""
