import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobDetail;
import org.quartz.JobExecutionContext;
import org.quartz.Scheduler;

/** W6: N runs of one program as jobs, each with its output and exit code taken, until all have ended. */
public final class Scripts implements Job {
    private static volatile String[] command;
    private static volatile CountDownLatch all;
    private static final AtomicReference<String> FAILED = new AtomicReference<>();

    static String measure(Map<String, String> given) throws Exception {
        int count = Integer.parseInt(given.get("count"));
        command = new String[] {given.get("python"), given.get("script")};
        all = new CountDownLatch(count);
        Schedulers.createTables(given);
        Scheduler scheduler = Schedulers.make(given);
        JobDetail job = JobBuilder.newJob(Scripts.class).withIdentity("script").storeDurably().build();
        scheduler.addJob(job, true);
        scheduler.start();
        long began = System.nanoTime();
        for (int n = 0; n < count; n++) {
            scheduler.triggerJob(job.getKey());
        }
        if (!all.await(300, TimeUnit.SECONDS) || FAILED.get() != null) {
            throw new IllegalStateException("not all of them ended well: " + FAILED.get());
        }
        return new Figures().with("runs_per_second", count / ((System.nanoTime() - began) / 1e9)).toString();
    }

    @Override
    public void execute(JobExecutionContext context) {
        try {
            Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes());
            int code = process.waitFor();
            if (code != 0 || !output.equals("hello\n")) {
                FAILED.set(code + ": " + output);
            }
        } catch (Exception problem) {
            FAILED.set(problem.toString());
        } finally {
            all.countDown();
        }
    }
}
