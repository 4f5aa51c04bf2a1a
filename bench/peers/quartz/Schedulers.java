import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.Map;
import java.util.Properties;
import org.quartz.Scheduler;
import org.quartz.impl.StdSchedulerFactory;

/** A clustered scheduler on PostgreSQL, as many threads and as large a batch as asked for; and its store, seen plainly. */
final class Schedulers {
    static final String NAME = "bench";

    private Schedulers() {}

    static Scheduler make(Map<String, String> given) throws Exception {
        String batch = given.getOrDefault("batch", "1");
        int threads = Integer.parseInt(given.getOrDefault("threads", "10"));
        Properties chosen = new Properties();
        chosen.put("org.quartz.scheduler.instanceName", NAME);
        chosen.put("org.quartz.scheduler.instanceId", "AUTO");
        chosen.put("org.quartz.scheduler.skipUpdateCheck", "true");
        chosen.put("org.quartz.scheduler.batchTriggerAcquisitionMaxCount", batch);
        chosen.put("org.quartz.threadPool.class", "org.quartz.simpl.SimpleThreadPool");
        chosen.put("org.quartz.threadPool.threadCount", String.valueOf(threads));
        chosen.put("org.quartz.jobStore.class", "org.quartz.impl.jdbcjobstore.JobStoreTX");
        chosen.put("org.quartz.jobStore.driverDelegateClass", "org.quartz.impl.jdbcjobstore.PostgreSQLDelegate");
        chosen.put("org.quartz.jobStore.isClustered", "true");
        chosen.put("org.quartz.jobStore.dataSource", "store");
        // Quartz asks for it where a batch is larger than one: otherwise two could take the same trigger.
        chosen.put("org.quartz.jobStore.acquireTriggersWithinLock", String.valueOf(!batch.equals("1")));
        // Whoever falls behind shall be late, not excused: nothing counts as misfired within an hour.
        chosen.put("org.quartz.jobStore.misfireThreshold", "3600000");
        chosen.put("org.quartz.dataSource.store.provider", "hikaricp");
        chosen.put("org.quartz.dataSource.store.driver", "org.postgresql.Driver");
        chosen.put("org.quartz.dataSource.store.URL", jdbc(given));
        chosen.put("org.quartz.dataSource.store.user", "postgres");
        chosen.put("org.quartz.dataSource.store.password", "");
        chosen.put("org.quartz.dataSource.store.maxConnections", String.valueOf(threads + 5));
        return new StdSchedulerFactory(chosen).getScheduler();
    }

    /** Quartz's own tables, from its jar. */
    static void createTables(Map<String, String> given) throws Exception {
        String path = "org/quartz/impl/jdbcjobstore/tables_postgres.sql";
        try (InputStream found = Scheduler.class.getClassLoader().getResourceAsStream(path)) {
            execute(given, new String(found.readAllBytes(), StandardCharsets.UTF_8));
        }
    }

    /** The triggers `n 1` to `n COUNT - 1`: rows as Quartz wrote those of `n 0`, each so many due at the same second. */
    static void copyTrigger(Map<String, String> given, int count, int dueTogether) throws Exception {
        String later = "(n / " + dueTogether + ") * 1000";
        String others = ", generate_series(1, " + (count - 1) + ") n WHERE trigger_name = 'n 0';";
        // Copies need no check of what they refer to; row by row, before any statistics, it takes minutes.
        execute(given, "SET session_replication_role = replica;"
            + "INSERT INTO qrtz_triggers SELECT sched_name, 'n ' || n, trigger_group, job_name, job_group, description,"
            + " next_fire_time + " + later + ", prev_fire_time, priority, trigger_state, trigger_type, start_time + " + later
            + ", end_time, calendar_name, misfire_instr, job_data FROM qrtz_triggers" + others
            + "INSERT INTO qrtz_simple_triggers SELECT sched_name, 'n ' || n, trigger_group, repeat_count, repeat_interval,"
            + " times_triggered FROM qrtz_simple_triggers" + others);
        execute(given, "VACUUM ANALYZE"); // what autovacuum would do at some time or other
    }

    static int count(Map<String, String> given, String query) throws Exception {
        try (Connection connection = connect(given); Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            rows.next();
            return rows.getInt(1);
        }
    }

    private static void execute(Map<String, String> given, String text) throws Exception {
        try (Connection connection = connect(given); Statement statement = connection.createStatement()) {
            statement.execute(text);
        }
    }

    private static Connection connect(Map<String, String> given) throws Exception {
        return DriverManager.getConnection(jdbc(given), "postgres", "");
    }

    /** postgresql://postgres@127.0.0.1:5432/name, as everybody is given it. */
    private static String jdbc(Map<String, String> given) {
        return "jdbc:" + given.get("url").replace("postgres@", "");
    }
}
