"""What is handed to someone who helps, without secrets."""
