"""Where the files of a sync lie: this machine, a bucket, a web server, an SFTP server."""
