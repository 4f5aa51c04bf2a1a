import java.util.Date;
import java.util.Map;
import org.quartz.JobBuilder;
import org.quartz.JobDetail;
import org.quartz.Scheduler;
import org.quartz.SimpleScheduleBuilder;
import org.quartz.TriggerBuilder;

/** W4: N stored recurring triggers, `--due` of them at each whole second, for `--seconds`: how late they begin, at what cost. */
final class Stored {
    private static final int LEAD_SECONDS = 5;
    private static final double PATIENCE_SECONDS = 15; // after the window, for those who are late

    private Stored() {}

    static String measure(Map<String, String> given) throws Exception {
        int count = Integer.parseInt(given.get("count"));
        int perSecond = Integer.parseInt(given.getOrDefault("due", "50"));
        int seconds = Integer.parseInt(given.getOrDefault("seconds", "60"));
        Schedulers.createTables(given);
        Scheduler scheduler = Schedulers.make(given);
        JobDetail job = JobBuilder.newJob(Noop.class).withIdentity("noop").storeDurably().build();
        scheduler.addJob(job, true);
        long storing = LEAD_SECONDS + count / 10_000; // seconds: so many are stored in one, and more
        long first = (System.currentTimeMillis() / 1000 + storing) * 1000;
        scheduler.scheduleJob(TriggerBuilder.newTrigger().withIdentity("n 0").forJob(job).startAt(new Date(first))
            .withSchedule(SimpleScheduleBuilder.repeatSecondlyForever(Math.max(count / perSecond, seconds + 1))).build());
        Schedulers.copyTrigger(given, count, perSecond);
        int due = perSecond * seconds;
        Noop.expect(due);
        Noop.until = (first + seconds * 1000L) * 1000;
        scheduler.start();
        if (System.currentTimeMillis() > first - 2000) {
            throw new IllegalStateException("the triggers took longer to store than the lead");
        }
        Thread.sleep(first - 500 - System.currentTimeMillis());
        Usage before = Usage.now(given);
        Thread.sleep(first + seconds * 1000L - System.currentTimeMillis());
        Usage used = Usage.now(given).since(before);
        double memory = Usage.memory();
        int begun = Noop.await(PATIENCE_SECONDS);
        return new Figures().withSpread("lateness_", lateness(first, perSecond, due, begun))
            .with("scheduler_cpu_percent", used.own()).with("database_cpu_percent", used.database())
            .with("together_cpu_percent", used.own() + used.database()).with("memory_mb", memory)
            .with("not_begun", due - begun).toString();
    }

    /** Of all that were due; of those that have not begun, how late they are by now. */
    private static long[] lateness(long first, int perSecond, int due, int begun) {
        long now = Noop.micros();
        long[] late = new long[due];
        int[] seen = new int[due / perSecond + 1];
        for (int n = 0; n < begun; n++) {
            late[n] = Noop.begun[n] - Noop.due[n];
            seen[Math.min((int) ((Noop.due[n] / 1000 - first) / 1000), seen.length - 1)]++;
        }
        int place = begun;
        for (int second = 0; second < due / perSecond; second++) {
            for (int missing = seen[second]; missing < perSecond && place < due; missing++) {
                late[place++] = now - (first + second * 1000L) * 1000;
            }
        }
        return late;
    }
}
