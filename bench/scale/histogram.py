"""Weighted samples without keeping them: buckets of two in a hundred, so that a billion lateness figures fit."""

import math
from typing import Final

GROWTH: Final = math.log(1.02)
LEAST: Final = 1e-4  # a tenth of a millisecond


class Histogram:
    def __init__(self) -> None:
        self._buckets: dict[int, float] = {}
        self.weight = 0.0
        self.most = 0.0

    def add(self, seconds: float, weight: float = 1.0) -> None:
        bucket = int(math.log(max(seconds, LEAST) / LEAST) / GROWTH)
        self._buckets[bucket] = self._buckets.get(bucket, 0.0) + weight
        self.weight += weight
        self.most = max(self.most, seconds)

    def merge(self, other: "Histogram") -> None:
        for bucket, weight in other._buckets.items():
            self._buckets[bucket] = self._buckets.get(bucket, 0.0) + weight
        self.weight += other.weight
        self.most = max(self.most, other.most)

    def quantile(self, share: float) -> float:
        """The middle of the bucket that it is in; 0 where there is nothing."""
        left = share * self.weight
        for bucket in sorted(self._buckets):
            left -= self._buckets[bucket]
            if left <= 0:
                return float(LEAST * math.exp((bucket + 0.5) * GROWTH))
        return 0.0
