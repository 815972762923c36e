"""The Pulumi program: load the environment's settings, deploy it, export its outputs."""

import pulumi

from stacks.access import require_usable
from stacks.config.loader import load_current
from stacks.kinds import deploy
from stacks.machine import lab_state

settings = load_current(lab_state())
require_usable(settings)
for name, value in deploy(settings).exports().items():
    pulumi.export(name, value)
