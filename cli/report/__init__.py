"""What a preview would change, for reviewers."""
