"""The one-machine environment: toolchain, cluster, images and stand-in plug-ins."""
