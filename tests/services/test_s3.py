"""The S3 server of the tests: it stores, and it checks signatures."""

import botocore.session
import pytest
from botocore.exceptions import ClientError

from tests.services.s3 import S3Server


def test_an_object_that_was_put_can_be_read(s3: S3Server) -> None:
    client = s3.client()
    client.create_bucket(Bucket="scripts")
    client.put_object(Bucket="scripts", Key="folder/물시계.py", Body=b"print('hello')\n")
    assert client.get_object(Bucket="scripts", Key="folder/물시계.py")["Body"].read() == b"print('hello')\n"


def test_a_missing_object_is_not_found(s3: S3Server) -> None:
    client = s3.client()
    with pytest.raises(ClientError, match="NoSuchKey"):
        client.get_object(Bucket="probe", Key="missing")


def test_a_wrong_secret_is_refused(s3: S3Server) -> None:
    intruder = botocore.session.Session().create_client(
        "s3",
        region_name=s3.region,
        endpoint_url=s3.endpoint_url,
        aws_access_key_id=s3.access_key,
        aws_secret_access_key="wrong",
    )
    with pytest.raises(ClientError, match="SignatureDoesNotMatch"):
        intruder.put_object(Bucket="probe", Key="x", Body=b"x")
