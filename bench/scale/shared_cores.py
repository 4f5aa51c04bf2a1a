"""A database's cores, shared by those who fire and those who run; what does not get its turn waits."""

from bench.scale.model import WORKERS


class SharedCores:
    """Time on a virtual clock. Fires take their time at once; what the workers ask for is a queue that drains."""

    def __init__(self, cores: float) -> None:
        self._cores = cores
        self._waiting = 0.0  # CPU seconds of the workers' transactions
        self._fired = 0.0  # CPU seconds that fires took since the last second
        self.busy = 0.0

    def stretch(self, firing: int) -> float:
        """How much longer a transaction takes than alone: connections that want a core share them evenly.

        So many CPU seconds asked for within a second are as many connections that want one, on average.
        """
        wanting = firing + min(WORKERS, self._waiting)
        return max(1.0, wanting / self._cores)

    def fire(self, seconds: float) -> None:
        self._fired += seconds
        self.busy += seconds

    def ask(self, seconds: float) -> None:
        self._waiting += seconds

    def second(self) -> float:
        """A second goes by; how long the workers' transactions wait by now."""
        done = min(self._waiting, max(0.0, self._cores - self._fired))
        self._waiting, self._fired = self._waiting - done, 0.0
        self.busy += done
        return self._waiting / self._cores
