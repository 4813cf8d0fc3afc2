module.exports = {
  getMetadata() {
    return {
      id: 'poll-job', name: 'Poll a job', description: 'Waits until a job is done', version: '1.0.0',
      retry: { attempts: 3, delay: 10 }
    };
  },

  getSchema() {
    return { parameters: { type: 'object', properties: { job: { type: 'string', description: 'Name of the job' } }, required: ['job'] } };
  },

  getBusinessErrors() {
    return [
      { code: 'JOB_RUNNING', description: 'Not done yet', match: (error) => error.message.includes('running'), solution: 'Wait', retryable: true },
      { code: 'JOB_UNKNOWN', description: 'No such job', match: /unknown/i, solution: 'Start the job first', retryable: false }
    ];
  },

  async execute({ job }) {
    const { api } = this;
    if (!['build', 'deploy'].includes(job)) throw { message: `Unknown job ${job}`, code: 404 };
    const polls = (await api.storage.getItem(job) || 0) + 1;
    await api.storage.setItem(job, polls);
    if (polls < 3) throw new Error(`${job} is running`);
    api.storage.removeItem(job);
    return `${job} is done after ${polls} polls`;
  }
};
