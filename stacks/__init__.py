"""Environments: settings in ``config``, one ``deploy`` per kind in ``kinds``."""
