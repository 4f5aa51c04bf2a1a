import java.util.Arrays;
import java.util.Locale;

/** Figures as one line of JSON, and what they are made of. */
final class Figures {
    private final StringBuilder line = new StringBuilder("{");

    Figures with(String key, double value) {
        line.append(line.length() > 1 ? ", " : "").append(String.format(Locale.ROOT, "\"%s\": %.3f", key, value));
        return this;
    }

    /** Median and 99th percentile of spans in microseconds, as milliseconds. */
    Figures withSpread(String prefix, long[] micros) {
        long[] ranked = micros.clone();
        Arrays.sort(ranked);
        with(prefix + "p50_ms", ranked[ranked.length / 2] / 1000.0);
        return with(prefix + "p99_ms", ranked[Math.min(ranked.length - 1, (int) (ranked.length * 0.99))] / 1000.0);
    }

    @Override
    public String toString() {
        return line + "}";
    }
}
