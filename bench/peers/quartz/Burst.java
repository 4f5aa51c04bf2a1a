import java.util.Date;
import java.util.Map;
import java.util.stream.LongStream;
import org.quartz.JobBuilder;
import org.quartz.JobDetail;
import org.quartz.Scheduler;
import org.quartz.SimpleScheduleBuilder;
import org.quartz.TriggerBuilder;

/** W1: N one-shot triggers of one durable job, due at the same instant, until every no-op has begun. */
final class Burst {
    private static final int LEAD_SECONDS = 6; // the scheduler runs and is idle before they are due

    private Burst() {}

    static String measure(Map<String, String> given) throws Exception {
        int count = Integer.parseInt(given.get("count"));
        double limit = Double.parseDouble(given.getOrDefault("limit", "300"));
        Schedulers.createTables(given);
        Scheduler scheduler = Schedulers.make(given);
        JobDetail job = JobBuilder.newJob(Noop.class).withIdentity("noop").storeDurably().build();
        scheduler.addJob(job, true);
        long due = (System.currentTimeMillis() / 1000 + LEAD_SECONDS + count / 10_000) * 1000;
        scheduler.scheduleJob(TriggerBuilder.newTrigger().withIdentity("n 0").forJob(job).startAt(new Date(due))
            .withSchedule(SimpleScheduleBuilder.simpleSchedule()).build());
        Schedulers.copyTrigger(given, count, count);
        Noop.expect(count);
        scheduler.start();
        if (System.currentTimeMillis() > due - 2000) {
            throw new IllegalStateException("the triggers took longer to make than the lead: they would not be due in the future");
        }
        int begun = Noop.await((due - System.currentTimeMillis()) / 1000.0 + limit);
        if (begun == 0) {
            throw new IllegalStateException("none began within " + limit + " s");
        }
        long[] late = LongStream.of(Noop.begun).limit(begun).map(at -> at - due * 1000).toArray();
        long last = LongStream.of(late).max().getAsLong();
        return new Figures().with("fires_per_second", begun * 1e6 / last).withSpread("lateness_", late).with("begun", begun).toString();
    }
}
