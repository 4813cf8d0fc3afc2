package cron_test

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/importer/cron"
	"github.com/flowrun/flowrun/internal/test/importtest"
)

// TestCronNames checks that a tool is named for the script or program that its command runs.
func TestCronNames(t *testing.T) {
	for _, c := range []struct{ command, want string }{
		{"/usr/local/bin/backup.sh --all", "backup"},
		{"cd /x && ./fbo-nightly.sh", "fbo-nightly"},
		{"source /home/x/.bash_profile && source $ROOT/.env && cd $ROOT/loaders && ./bids-nightly.sh &>> /log/bids.log", "bids-nightly"},
		{". /etc/default/backup && if [ \"$START\" = \"yes\" ] && [ -x /var/backup.sh ]; then /bin/bash /var/mysql_backup.sh; fi", "mysql_backup"},
		{"[ \"$(date +\\%u)\" = \"5\" ] && /scripts/cron_db_backup.sh", "cron_db_backup"},
		{"test -x /usr/sbin/anacron || ( cd / && run-parts --report /etc/cron.daily )", "run-parts-cron-daily"},
		{"/bin/bash /home/$USER/soal1.sh", "soal1"},
		{"bash -lc 'cd /x; ./nightly.sh 2>&1'", "nightly"},
		{"su - app -c \"cd /app && python3 audit.py --days 7\" >> /log 2>&1", "audit"},
		{"su app -c ./audit.py", "audit"},
		{"/usr/bin/python /home/x/aws-logger.py > /dev/null", "aws-logger"},
		{"python3 -m http.server", "http-server"},
		{"php /var/www/artisan schedule:run", "artisan-schedule-run"},
		{"/usr/bin/envdir /etc/wal-e.d/env /usr/local/bin/clean-wale.sh", "clean-wale"},
		{"sudo -u www nice -n 10 timeout 1h A=b env -i C=d ./sync", "sync"},
		{"flock -n /tmp/lock /opt/sync.sh", "sync"},
		{"flock -n /tmp/lock -c '/opt/sync.sh; x'", "sync"},
		{"make cron-hourly -f ./Makefile >> ./log 2>&1", "make-cron-hourly"},
		{"cd /srv && make", "make"},
		{"git -C /srv pull", "git-pull"},
		{"sleep 60 && dump", "dump"},
		{"sleep 60", "cron-1"},
		{"for i in 1 2; do echo $i; done", "cron-1"},
		{"cat x | sort >y", "cat"},
		{"cat x | ./load", "load"},
		{"bash -c 'echo x'", "cron-1"},
		{"2>&1 >x ~/bin/duck.sh", "duck"},
		{"/usr/bin/1.sh", "n1"},
		{"'/opt/my tool/run it.sh'", "run-it"},
		{"$(command -v backup) now", "command-v-backup"},
		{". ./x.sh", "cron-1"},
		{"\"\"", "cron-1"},
		{"echo 'unclosed", "cron-1"},
	} {
		r, err := cron.Read([]byte("0 7 * * * "+c.command+"\n"), false)
		if err != nil || len(r.Tools) != 1 || r.Tools[0].Name != c.want {
			t.Errorf("%s: %+v, %v; want %s", c.command, r.Tools[0].Name, err, c.want)
		}
	}
}

// TestCronNamesOfComments: a comment names the tool only if the program says little.
func TestCronNamesOfComments(t *testing.T) {
	for _, c := range []struct{ comment, command, want string }{
		{"Remove old files", "find /tmp -mtime +7 -delete", "remove-old-files"},
		{"Say hello to everybody every morning!", "echo hello", "say-hello-to-everybody"},
		{"Every night", "/opt/backup.sh", "backup"},
		{"0 8 * * * echo y", "echo x", "cron-2"},
		{"----", "cat x", "cat"},
	} {
		r, err := cron.Read([]byte("# "+c.comment+"\n0 7 * * * "+c.command+"\n"), false)
		if err != nil || len(r.Tools) != 1 || r.Tools[0].Name != c.want {
			t.Errorf("%s: %+v, %v; want %s", c.command, r.Tools[0].Name, err, c.want)
		}
	}
}

// TestCronLines reads lines that real crontabs have. has is in the definitions, or in the reason of a row.
func TestCronLines(t *testing.T) {
	for _, c := range []struct {
		name, src string
		tools     int
		has       string
	}{
		{"prose", "This cron job will play the file at noon.\n", 0, "not a line of a crontab"},
		{"a field for seconds", "*/6 * * * * * echo x\n", 0, "it has more than five time fields"},
		{"a field for seconds, in a system crontab", "0 */6 * * * * root echo x\n", 0, "it has more than five time fields"},
		{"a user", "0 7 * * * www-data echo x\n", 0, "add --system"},
		{"a step without a range", "5/10 * * * * echo x\n", 1, "# Changed: some crons run 5/10 only at 5; flowrun at 5 and then every 10."},
		{"a step with a range", "0-59/10,3 */2 1-5 * 1-5/2 echo x\n", 1, "description: Run echo x\n"},
		{"the comment above", "# Say x\n0 7 * * * echo x\n", 1, "description: Say x\n"},
		{"a command in a comment", "#0 8 * * * echo y\n0 7 * * * echo x\n", 1, "description: Run echo x\n"},
		{"the names of the fields", "# m h  dom mon dow   command\n0 7 * * * echo x\n", 1, "description: Run echo x\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := cron.Read([]byte(c.src), strings.Contains(c.name, "system"))
			if err != nil {
				t.Fatal(err)
			}
			text := importtest.Definitions(t, r)
			for _, row := range r.Rows {
				text += row.Reason + "\n"
			}
			if len(r.Tools) != c.tools || !strings.Contains(text, c.has) {
				t.Errorf("%d tools, want %d and %q:\n%s", len(r.Tools), c.tools, c.has, text)
			}
		})
	}
}
