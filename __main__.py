"""The Pulumi program: load the environment's settings, deploy it, export its outputs."""

import pulumi

from stacks.config.loader import load_current
from stacks.kinds import deploy

for name, value in deploy(load_current()).exports().items():
    pulumi.export(name, value)
