import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.quartz.JobBuilder;
import org.quartz.JobDetail;
import org.quartz.Scheduler;
import org.quartz.Trigger;
import org.quartz.TriggerBuilder;

/** W3: N no-op jobs by one client, one call each or `--together` in one call, until the store holds none of them any more. */
final class Submit {
    private Submit() {}

    static String measure(Map<String, String> given) throws Exception {
        int count = Integer.parseInt(given.get("count"));
        int together = Integer.parseInt(given.getOrDefault("together", "1"));
        double limit = Double.parseDouble(given.getOrDefault("limit", "300"));
        Schedulers.createTables(given);
        Scheduler scheduler = Schedulers.make(given);
        JobDetail job = JobBuilder.newJob(Noop.class).withIdentity("noop").storeDurably().build();
        scheduler.addJob(job, true);
        scheduler.start();
        Noop.expect(1); // as of all others, its first job does not count
        scheduler.triggerJob(job.getKey());
        Noop.await(limit);
        Thread.sleep(500);
        Noop.expect(count);
        long began = Noop.micros();
        for (int n = 0; n < count; n += together) {
            if (together == 1) {
                scheduler.triggerJob(job.getKey());
            } else {
                scheduler.scheduleJobs(Map.of(job, triggers(job, n, Math.min(n + together, count))), true);
            }
        }
        int done = Noop.await(limit);
        if (done < count) {
            throw new IllegalStateException("only " + done + " of " + count + " began within " + limit + " s after they were sent");
        }
        awaitEmpty(given);
        return new Figures().with("jobs_per_second", count * 1e6 / (Noop.micros() - began)).toString();
    }

    private static Set<Trigger> triggers(JobDetail job, int first, int end) {
        Set<Trigger> made = new HashSet<>();
        for (int n = first; n < end; n++) {
            made.add(TriggerBuilder.newTrigger().withIdentity("n " + n).forJob(job).startNow().build());
        }
        return made;
    }

    /** A job is recorded as done when neither its trigger nor its firing is kept any more. */
    private static void awaitEmpty(Map<String, String> given) throws Exception {
        String kept = "SELECT (SELECT count(*) FROM qrtz_triggers) + (SELECT count(*) FROM qrtz_fired_triggers)";
        long deadline = System.currentTimeMillis() + 60_000;
        while (Schedulers.count(given, kept) > 0) {
            if (System.currentTimeMillis() > deadline) {
                throw new IllegalStateException("rows were left a minute after the last began");
            }
            Thread.sleep(10);
        }
    }
}
