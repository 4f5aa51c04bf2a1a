"""The library face: what stands behind the schedulers, job stores and executors that programs import."""
