"""Stand-ins for provider plug-ins that a bare machine cannot have; lab only."""
