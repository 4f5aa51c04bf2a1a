"""The tables of seeds 000, 002 and 004 and their columns, Quartz's as its JDBC store of 2.3 names them."""

from typing import Final

TRIGGER_KEY: Final = ("SCHED_NAME", "TRIGGER_NAME", "TRIGGER_GROUP")
QUARTZ: Final = {
    "job_details": (
        *("SCHED_NAME", "JOB_NAME", "JOB_GROUP", "DESCRIPTION", "JOB_CLASS_NAME", "IS_DURABLE", "IS_NONCONCURRENT"),
        *("IS_UPDATE_DATA", "REQUESTS_RECOVERY", "JOB_DATA"),
    ),
    "triggers": (
        *(*TRIGGER_KEY, "JOB_NAME", "JOB_GROUP", "DESCRIPTION", "NEXT_FIRE_TIME", "PREV_FIRE_TIME", "PRIORITY"),
        *("TRIGGER_STATE", "TRIGGER_TYPE", "START_TIME", "END_TIME", "CALENDAR_NAME", "MISFIRE_INSTR", "JOB_DATA"),
    ),
    "simple_triggers": (*TRIGGER_KEY, "REPEAT_COUNT", "REPEAT_INTERVAL", "TIMES_TRIGGERED"),
    "cron_triggers": (*TRIGGER_KEY, "CRON_EXPRESSION", "TIME_ZONE_ID"),
    "simprop_triggers": (
        *(*TRIGGER_KEY, "STR_PROP_1", "STR_PROP_2", "STR_PROP_3", "INT_PROP_1", "INT_PROP_2", "LONG_PROP_1"),
        *("LONG_PROP_2", "DEC_PROP_1", "DEC_PROP_2", "BOOL_PROP_1", "BOOL_PROP_2"),
    ),
    "blob_triggers": (*TRIGGER_KEY, "BLOB_DATA"),
    "calendars": ("SCHED_NAME", "CALENDAR_NAME", "CALENDAR"),
    "paused_trigger_grps": ("SCHED_NAME", "TRIGGER_GROUP"),
    "fired_triggers": (
        *("SCHED_NAME", "ENTRY_ID", "TRIGGER_NAME", "TRIGGER_GROUP", "INSTANCE_NAME", "FIRED_TIME", "SCHED_TIME"),
        *("PRIORITY", "STATE", "JOB_NAME", "JOB_GROUP", "IS_NONCONCURRENT", "REQUESTS_RECOVERY"),
    ),
    "scheduler_state": ("SCHED_NAME", "INSTANCE_NAME", "LAST_CHECKIN_TIME", "CHECKIN_INTERVAL"),
    "locks": ("SCHED_NAME", "LOCK_NAME"),
}
CHAINS: Final = {
    "deptable": ("id", "jobchainid", "env", "command", "entry_time", "desc", "ottime"),
    "jobchain_table": (
        *("id", "job_desc", "total_stpes", "entry_time", "timestr", "dep_ot", "switch", "main_flag", "BKP_flag"),
        *("tag", "subtag"),
    ),
    "jobtable": ("id", "env", "job_chain_id", "job_desc", "command", "step_lvl", "ottime", "entry_time"),
    "jobchain_lst_run": ("id", "jobchain_id", "last_run_start", "last_run_end", "pid", "status", "dep_pass_ts"),
    "realtime_status": (
        *("id", "name", "timequeuesize", "replyqueuesize", "debugmode", "index_last_ping_time", "pid_index"),
        *("pid_timer", "pid_sqlfetcher", "pid_receiver", "job_last_ping_time"),
    ),
    "schedulerMessage": ("id", "run_id", "msg", "entry_time"),
}
LAKE: Final = {
    "JobInfo": ("datasource_id", "job_id", "job_data"),
    "JobScheduler": ("job_id", "last_time_sync", "sync_internal", "sync_data", "last_sync_status"),
    "JobHistory": ("job_id", "sync_time", "stats_data"),
    "JobStatus": ("job_id", "current_status"),
}
COLUMNS: Final = {
    "api_glue_job": (
        *("job_id", "username", "job_name", "script_name", "script_location", "create_ts", "update_ts", "body"),
    ),
    "api_glue_trigger": (
        *("trigger_id", "name", "description", "schedule", "start_on_create", "type", "workflow_name", "job_name"),
        *("user_name", "trigger_state", "body"),
    ),
    "api_glue_job_run": (
        *("job_run_id", "job_name", "job_run_state", "user_name", "trigger_name", "trigger_id", "pid"),
        *("create_ts", "update_ts"),
    ),
    **{f"glue_qrtz_{name}": columns for name, columns in QUARTZ.items()},
    **{f"glue_sch_qrtz_{name}": columns for name, columns in QUARTZ.items()},
    **CHAINS,
    **LAKE,
}
