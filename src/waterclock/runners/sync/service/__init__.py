"""REST services as sources: how they are asked, how they page, and what their records become."""
