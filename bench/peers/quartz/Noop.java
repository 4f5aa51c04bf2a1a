import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.quartz.Job;
import org.quartz.JobExecutionContext;

/** Does nothing but note when it began and when it was due, in microseconds since 1970. */
public final class Noop implements Job {
    static long[] begun;
    static long[] due;
    static long until = Long.MAX_VALUE; // whoever is due later does not count
    private static AtomicInteger next;
    private static CountDownLatch all;

    static void expect(int count) {
        begun = new long[count];
        due = new long[count];
        next = new AtomicInteger();
        all = new CountDownLatch(count);
    }

    @Override
    public void execute(JobExecutionContext context) {
        long now = micros();
        long at = context.getScheduledFireTime().getTime() * 1000;
        if (at >= until) {
            return;
        }
        int place = next.getAndIncrement();
        if (place < begun.length) {
            begun[place] = now;
            due[place] = at;
            all.countDown();
        }
    }

    /** How many began, the first of the arrays; whoever falls behind is not waited for without end. */
    static int await(double seconds) throws InterruptedException {
        all.await((long) (seconds * 1000), TimeUnit.MILLISECONDS);
        int whole = 0; // one may have its place and not yet have written there
        while (whole < begun.length && begun[whole] > 0 && due[whole] > 0) {
            whole++;
        }
        return whole;
    }

    static long micros() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000 + now.getNano() / 1000;
    }
}
