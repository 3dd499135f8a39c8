"""Starts Home Assistant with only what its configuration names: the integrations that it adds by default need a compiler."""

import sys

from homeassistant import bootstrap

bootstrap.DEFAULT_INTEGRATIONS = set()
# Without the page it would start in recovery mode.
bootstrap.CRITICAL_INTEGRATIONS = set()

from homeassistant.__main__ import main  # noqa: E402

sys.exit(main())
