import java.util.HashMap;
import java.util.Map;

/** `java -cp … Peer WORKLOAD --url URL --count N …`: Quartz at one of the workloads; prints one JSON line of figures. */
public final class Peer {
    public static void main(String[] args) {
        int code = 1;
        try {
            System.out.println(measure(args[0], options(args)));
            code = 0;
        } catch (Exception problem) {
            System.err.println(problem);
        }
        System.exit(code); // the threads of its pools would keep it
    }

    private static String measure(String workload, Map<String, String> given) throws Exception {
        return switch (workload) {
            case "W1" -> Burst.measure(given);
            case "W2" -> Latency.measure(given);
            case "W3" -> Submit.measure(given);
            case "W4" -> Stored.measure(given);
            case "W5" -> Cron.measure(given);
            case "W6" -> Scripts.measure(given);
            default -> throw new IllegalArgumentException("no such workload: " + workload);
        };
    }

    private static Map<String, String> options(String[] args) {
        Map<String, String> given = new HashMap<>();
        for (int at = 1; at + 1 < args.length; at += 2) {
            given.put(args[at].substring(2), args[at + 1]);
        }
        return given;
    }
}
