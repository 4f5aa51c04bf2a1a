import java.util.Map;
import org.quartz.JobBuilder;
import org.quartz.JobDetail;
import org.quartz.Scheduler;

/** W2: one job at a time on an idle scheduler, from just before the call that submits it to its first line. */
final class Latency {
    private static final int WARMING = 10;
    private static final int PAUSE_MILLIS = 20;

    private Latency() {}

    static String measure(Map<String, String> given) throws Exception {
        int count = Integer.parseInt(given.get("count"));
        Schedulers.createTables(given);
        Scheduler scheduler = Schedulers.make(given);
        JobDetail job = JobBuilder.newJob(Noop.class).withIdentity("noop").storeDurably().build();
        scheduler.addJob(job, true);
        scheduler.start();
        long[] spans = new long[count];
        for (int n = -WARMING; n < count; n++) {
            Noop.expect(1);
            long before = Noop.micros();
            scheduler.triggerJob(job.getKey());
            if (Noop.await(30) == 0) {
                throw new IllegalStateException("a job did not begin within 30 s");
            }
            if (n >= 0) {
                spans[n] = Noop.begun[0] - before;
            }
            Thread.sleep(PAUSE_MILLIS);
        }
        return new Figures().withSpread("", spans).toString();
    }
}
