"""``python3 -m gpu_telemetry``: serve until stopped."""

from .server import main

if __name__ == "__main__":
    main()
