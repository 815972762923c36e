"""The Pulumi program: load the environment's settings, deploy it, export its outputs."""

import pulumi

from stacks import deploy, load_current

for name, value in deploy(load_current()).exports().items():
    pulumi.export(name, value)
