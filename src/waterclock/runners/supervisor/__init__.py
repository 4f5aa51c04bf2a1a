"""The supervisor: one per state directory, outlives the worker, holds the leases, and lets nothing outlive them."""

from waterclock.runners.supervisor.daemon import daemonise, run_supervisor

__all__ = ["daemonise", "run_supervisor"]
