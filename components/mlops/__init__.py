"""What teams use on top of the cluster: experiment tracking and sample jobs that use it."""

from components.mlops.experiment_tracking import ExperimentTracking, ExperimentTrackingArgs
from components.mlops.training_sample import TrainingSample, training_sample

__all__ = ["ExperimentTracking", "ExperimentTrackingArgs", "TrainingSample", "training_sample"]
