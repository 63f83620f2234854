"""Tables in Spark, classic or over Spark Connect: frames of a session, and Parquet files that the workers read."""

from kohorte.sources.spark.source import SparkSource, is_spark_frame, spark_as_source

__all__ = ["SparkSource", "is_spark_frame", "spark_as_source"]
