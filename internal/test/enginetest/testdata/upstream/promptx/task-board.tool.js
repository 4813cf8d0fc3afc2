/**
 * task-board - hands tasks from one role to another; keeps them in api.storage
 */
module.exports = {
  getDependencies() { return {}; },

  getMetadata() {
    return { id: 'task-board', name: 'Task board', description: 'Hands tasks from one role to another', version: '1.0.0', tags: ['collaboration'] };
  },

  getSchema() {
    return {
      parameters: {
        type: 'object',
        properties: {
          action: { type: 'string', enum: ['send', 'poll', 'update'], description: 'What to do' },
          to: { type: 'string', description: 'Who gets the task (send, poll)' },
          task: { type: 'string', description: 'The task (send)' },
          id: { type: 'number', description: 'Number of the task (update)' },
          status: { type: 'string', enum: ['accepted', 'done'], description: 'New status (update)' }
        },
        required: ['action']
      }
    };
  },

  _allowed: { pending: ['accepted'], accepted: ['done'], done: [] },

  async execute(params) {
    const { api } = this;
    const tasks = api.storage.getItem('tasks') || [];
    switch (params.action) {
      case 'send':
        if (!params.to || !params.task) {
          return { success: false, error: 'send needs to and task', suggestion: '{ action: "send", to: "editor", task: "Proofread" }' };
        }
        tasks.push({ id: tasks.length + 1, to: params.to, task: params.task, status: 'pending' });
        api.storage.setItem('tasks', tasks);
        return { success: true, data: tasks[tasks.length - 1] };
      case 'poll':
        return { success: true, data: tasks.filter(t => !params.to || t.to === params.to) };
      case 'update':
        return this._update(tasks, params, api);
    }
  },

  async _update(tasks, { id, status }, api) {
    const task = tasks.find(t => t.id === id);
    if (!task) return { success: false, error: `task not found: ${id}`, suggestion: 'Use poll to see all tasks' };
    if (!this._allowed[task.status].includes(status)) {
      return { success: false, error: `a task that is ${task.status} cannot become ${status}`, suggestion: 'pending, accepted, done' };
    }
    task.status = status;
    await api.storage.setItem('tasks', tasks);
    return { success: true, data: task };
  }
};
