import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.TimeZone;
import org.quartz.CronExpression;

/**
 * W5: microseconds of CPU time per getNextValidTimeAfter, warm, the best of several passes over the same moments.
 *
 * The file `--order` has a line of moments (epoch seconds, by spaces) and then lines "expression TAB zone"; a figure is
 * named by the place of its line.
 */
final class Cron {
    private static final int WARMING = 60; // passes over all of them: by then the compiler has had its say
    private static final int PASSES = 15;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private Cron() {}

    static String measure(Map<String, String> given) throws Exception {
        List<String> lines = Files.readAllLines(Path.of(given.get("order")));
        List<Date> moments = new ArrayList<>();
        for (String second : lines.get(0).split(" ")) {
            moments.add(new Date(Long.parseLong(second) * 1000));
        }
        List<CronExpression> expressions = new ArrayList<>();
        for (String line : lines.subList(1, lines.size())) {
            String[] parts = line.split("\t");
            CronExpression expression = new CronExpression(parts[0]);
            expression.setTimeZone(TimeZone.getTimeZone(parts[1]));
            expressions.add(expression);
        }
        for (int pass = 0; pass < WARMING; pass++) {
            expressions.forEach(expression -> micros(expression, moments));
        }
        Figures figures = new Figures();
        for (int place = 0; place < expressions.size(); place++) {
            double best = Double.MAX_VALUE;
            for (int pass = 0; pass < PASSES; pass++) {
                best = Math.min(best, micros(expressions.get(place), moments));
            }
            figures.with(String.valueOf(place), best);
        }
        return figures.toString();
    }

    private static double micros(CronExpression expression, List<Date> moments) {
        long began = THREADS.getCurrentThreadCpuTime();
        long sum = 0;
        for (Date moment : moments) {
            Date found = expression.getNextValidTimeAfter(moment);
            sum += found == null ? 1 : found.getTime();
        }
        if (sum == 0) {
            throw new IllegalStateException("nothing was found"); // and what was found has been looked at
        }
        return (THREADS.getCurrentThreadCpuTime() - began) / 1000.0 / moments.size();
    }
}
