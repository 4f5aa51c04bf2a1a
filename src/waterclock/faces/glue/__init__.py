"""The Glue face: AWS JSON 1.1 as boto3, the aws CLI, Airflow and the AWS SDKs speak it."""
