import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** CPU seconds of this process and of the database's processes up to a moment; as percentages of a core between two. */
record Usage(double at, double own, double database) {
    private static final double TICKS_PER_SECOND = 100;

    static Usage now(Map<String, String> given) throws IOException {
        var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        double database = given.containsKey("postmaster") ? tree(Long.parseLong(given.get("postmaster"))) : 0;
        return new Usage(System.nanoTime() / 1e9, system.getProcessCpuTime() / 1e9, database);
    }

    Usage since(Usage before) {
        double seconds = at - before.at;
        return new Usage(seconds, 100 * (own - before.own) / seconds, 100 * (database - before.database) / seconds);
    }

    static double memory() throws IOException {
        String line = Files.readAllLines(Path.of("/proc/self/status")).stream().filter(each -> each.startsWith("VmRSS")).findFirst().get();
        return Integer.parseInt(line.replaceAll("\\D", "")) / 1024.0;
    }

    /** A process with its children, those that have ended included. */
    private static double tree(long pid) throws IOException {
        double ticks = ticks(pid, 4);
        for (ProcessHandle child : ProcessHandle.of(pid).orElseThrow().children().toList()) {
            try {
                ticks += ticks(child.pid(), 2);
            } catch (IOException gone) {
                // it has ended between the two looks, and is in its parent's count from now on
            }
        }
        return ticks / TICKS_PER_SECOND;
    }

    /** Of utime, stime, cutime and cstime the first few. */
    private static double ticks(long pid, int few) throws IOException {
        String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        double ticks = 0;
        for (int n = 0; n < few; n++) {
            ticks += Long.parseLong(fields[11 + n]);
        }
        return ticks;
    }
}
