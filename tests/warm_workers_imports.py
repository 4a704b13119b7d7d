"""What the server of `warm_workers` imports."""

import in_process

in_process.load_package()
