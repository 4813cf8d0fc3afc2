package importer_test

import (
	"testing"

	"github.com/flowrun/flowrun/internal/importer/cron"
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
		{"sleep 60", "sleep"},
		{"2>&1 >x ~/bin/duck.sh", "duck"},
		{"/usr/bin/1.sh", "n1"},
		{"'/opt/my tool/run it.sh'", "run-it"},
		{"$(command -v backup) now", "command-v-backup"},
		{". ./x.sh", "x"},
		{"\"\"", "command"},
		{"echo 'unclosed", "echo"},
	} {
		r, err := cron.Read([]byte("0 7 * * * "+c.command+"\n"), false)
		if err != nil || len(r.Tools) != 1 || r.Tools[0].Name != c.want {
			t.Errorf("%s: %+v, %v; want %s", c.command, r.Tools[0].Name, err, c.want)
		}
	}
}
