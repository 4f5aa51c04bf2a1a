import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Date;
import java.util.TimeZone;
import org.quartz.CronExpression;

/** Reads lines "expression TAB zone TAB epoch seconds", writes each with Quartz's next five fires, or "refused". */
public final class QuartzAnswers {
    private static final int FIRES = 5;

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split("\t");
            System.out.println(line + "\t" + answer(parts[0], parts[1], Long.parseLong(parts[2])));
        }
    }

    private static String answer(String text, String zone, long second) {
        StringBuilder fires = new StringBuilder();
        try {
            CronExpression expression = new CronExpression(text);
            expression.setTimeZone(TimeZone.getTimeZone(zone));
            Date moment = new Date(second * 1000);
            for (int i = 0; i < FIRES; i++) {
                moment = expression.getNextValidTimeAfter(moment);
                if (moment == null) {
                    break;
                }
                fires.append(i == 0 ? "" : ",").append(moment.getTime() / 1000);
            }
        } catch (Exception refused) {
            return "refused";
        }
        return fires.toString();
    }
}
